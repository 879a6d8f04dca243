/** Formats counts, durations, money, sizes and context lengths in the page's language. Used by the views. */

/** Seconds with one decimal below ten, then whole seconds, minutes, hours. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) {
    return `${decimal(seconds, 1, 1)} s`;
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

/** A whole number, with its digits in groups. */
export function formatCount(count: number): string {
  return decimal(count, 0);
}

/** A text with a count that `trans._n` has put in, with the digits of the count in groups. */
export function groupDigits(text: string, count: number): string {
  return text.replace(String(count), () => formatCount(count));
}

/** A text of the server with the digits of its counts in groups; those of names, versions and addresses stay. */
export function groupCounts(text: string): string {
  return text.replace(/(?<=^|\s)\d{4,}(?=[,.]?(\s|$))/gu, digits =>
    formatCount(Number(digits))
  );
}

/** Tokens, such as `45.3k`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) {
    return String(tokens);
  }
  return tokens < 1_000_000
    ? `${decimal(tokens / 1000, 1)}k`
    : `${decimal(tokens / 1_000_000, 1)}M`;
}

/** Bytes with a unit. */
export function formatSize(bytes: number): string {
  if (bytes < 1000) {
    return `${bytes} B`;
  }
  if (bytes < 1_000_000) {
    return `${decimal(bytes / 1000, 1)} kB`;
  }
  return bytes < 1_000_000_000
    ? `${decimal(bytes / 1_000_000, 1)} MB`
    : `${decimal(bytes / 1_000_000_000, 1)} GB`;
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
    return `<$${decimal(LEAST_MONEY / 1_000_000, 4)}`;
  }
  return dollars < 0.01
    ? `$${decimal(Number(dollars.toPrecision(2)), 6)}`
    : `$${decimal(dollars, 2, 2)}`;
}

/** A price per million tokens. */
export function formatPrice(microUsd: number): string {
  return `$${decimal(microUsd / 1_000_000, 2)}`;
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

/** A number with at most `most` decimals, and at least `least`. */
function decimal(value: number, most: number, least = 0): string {
  return value.toLocaleString(pageLanguage(), {
    minimumFractionDigits: least,
    maximumFractionDigits: most
  });
}

/** The page's language, which JupyterLab names as `de_DE` or `de-DE`; English where the page names none. */
function pageLanguage(): string {
  const named = document.documentElement.lang.replaceAll('_', '-');
  try {
    return Intl.getCanonicalLocales(named)[0] ?? 'en';
  } catch {
    return 'en'; // Another page may name anything.
  }
}
