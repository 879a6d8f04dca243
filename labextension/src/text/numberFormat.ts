/** Formats durations, money, sizes and context lengths. Used by the views. */

/** Seconds with one decimal below ten, then whole seconds, minutes, hours. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) {
    return `${seconds.toFixed(1)} s`;
  }
  if (seconds < 60) {
    return `${Math.floor(seconds)} s`;
  }
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.floor(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Whole seconds, for running work. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}

/** Tokens, such as `45.3k`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) {
    return String(tokens);
  }
  return tokens < 1_000_000
    ? `${trimmed(tokens / 1000)}k`
    : `${trimmed(tokens / 1_000_000)}M`;
}

/** Bytes with a unit. */
export function formatSize(bytes: number): string {
  if (bytes < 1000) {
    return `${bytes} B`;
  }
  return bytes < 1_000_000
    ? `${trimmed(bytes / 1000)} kB`
    : `${trimmed(bytes / 1_000_000)} MB`;
}

/** Smallest amount shown, in micro-dollars. */
const LEAST_MONEY = 100;

/** Micro-dollars; amounts below a cent keep two significant digits. */
export function formatMoney(microUsd: number): string {
  const dollars = microUsd / 1_000_000;
  if (dollars === 0) {
    return '$0';
  }
  if (microUsd > 0 && microUsd < LEAST_MONEY) {
    return '<$0.0001';
  }
  return dollars < 0.01
    ? `$${Number(dollars.toPrecision(2))}`
    : `$${dollars.toFixed(2)}`;
}

/** A price per million tokens. */
export function formatPrice(microUsd: number): string {
  return `$${trimmed(microUsd / 1_000_000, 2)}`;
}

/** A time: hours and minutes today, else the date. */
export function formatMoment(at: string, now = new Date()): string {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) {
    return '';
  }
  const today = moment.toDateString() === now.toDateString();
  return today
    ? moment.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : moment.toLocaleDateString([], { day: 'numeric', month: 'short' });
}

function trimmed(value: number, digits = 1): string {
  return String(Number(value.toFixed(digits)));
}
