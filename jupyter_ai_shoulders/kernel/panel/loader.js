/**
 * The panel's own module as anywidget knows it: fetches the panel's code from the kernel, because this one is kept in
 * saved notebooks and the code is large. Where no kernel answers it shows the transcript. Sent by `widget.py`.
 */

const PATIENCE_MS = 4000;

/** The panel's code, once for each place this module is loaded in. */
let code = null;

function fetchCode(model, view) {
  return new Promise((resolve, reject) => {
    const hear = (message, buffers) => {
      if (message?.t !== 'code' || message.view !== view) {
        return;
      }
      model.off('msg:custom', hear);
      if (message.missing) {
        reject(new Error(message.missing));
      } else {
        resolve(buffers.map(buffer => new Blob([buffer])));
      }
    };
    model.on('msg:custom', hear);
    model.send({ t: 'load', view });
  });
}

async function load(model, view) {
  const [script, style] = await fetchCode(model, view);
  const url = URL.createObjectURL(
    new Blob([script], { type: 'text/javascript' })
  );
  try {
    const module = await import(/* @vite-ignore */ url);
    return { panel: module.default ?? module, css: await style.text() };
  } finally {
    URL.revokeObjectURL(url);
  }
}

function say(el, model, text) {
  const line = document.createElement('p');
  line.textContent = text;
  const transcript = document.createElement('div');
  // Made by the kernel that also sent this module, with everything a model or user wrote escaped.
  transcript.innerHTML = model.get('transcript');
  el.replaceChildren(line, transcript);
}

export default {
  async render({ model, el }) {
    const view = `load-${Math.random().toString(36).slice(2)}`;
    const waiting = setTimeout(
      () =>
        say(
          el,
          model,
          'The AI panel waits for the kernel, which is busy or not running. Run the cell to start it again.'
        ),
      PATIENCE_MS
    );
    try {
      code ??= load(model, view);
      const { panel, css } = await code;
      const style = document.createElement('style');
      style.textContent = css;
      const place = document.createElement('div');
      el.replaceChildren(style, place);
      return await panel.render({ model, el: place });
    } catch (error) {
      code = null;
      say(el, model, error.message);
    } finally {
      clearTimeout(waiting);
    }
  }
};
