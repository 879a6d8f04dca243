/**
 * The panel's own module as anywidget knows it. Saved notebooks may keep it, so it is small: it asks the kernel for the
 * panel's code, and shows the transcript where nobody answers. Sent by `widget.py`; its words are not translated,
 * because no front end's translations reach it.
 */

/** How long the kernel may take before it is said that it does not answer, in ms. */
const PATIENCE = 4000;

/** The panel's code, once for each place this module is loaded in. */
let code = null;

function fetchCode(model) {
  const view = `load-${Math.random().toString(36).slice(2)}`;
  return new Promise((resolve, reject) => {
    const hear = (message, buffers) => {
      if (message?.t !== 'code' || message.view !== view) {
        return;
      }
      model.off('msg:custom', hear);
      if (message.missing) {
        reject(new Error(message.missing));
      } else {
        resolve(buffers);
      }
    };
    model.on('msg:custom', hear);
    try {
      model.send({ t: 'load', view });
    } catch (error) {
      // The lab refuses to send to a kernel that is dead; what happens then is said after a while.
      console.warn('The kernel of the AI panel cannot be reached:', error);
    }
  });
}

async function load(model) {
  const [script, style] = await fetchCode(model);
  const url = URL.createObjectURL(
    new Blob([script], { type: 'text/javascript' })
  );
  try {
    const module = await import(url);
    return { panel: module.default, css: new TextDecoder().decode(style) };
  } finally {
    URL.revokeObjectURL(url);
  }
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

/** Show why there is no panel, and the conversation as the kernel last knew it. */
function sayWhy(el, model, text) {
  const transcript = document.createElement('div');
  // Made by the kernel that made this module too, with everything a user or a model wrote escaped.
  transcript.innerHTML = model.get('transcript');
  // By its class the same transcript below the panel is hidden.
  transcript.firstElementChild?.removeAttribute('class');
  const line = element('p', text);
  line.setAttribute('role', 'status');
  el.replaceChildren(line, transcript);
}

async function render({ model, el, ...rest }) {
  const stuck = setTimeout(() => {
    sayWhy(
      el,
      model,
      'The AI panel waits for its kernel, which is busy or not running. If it does not run, run this cell again.'
    );
  }, PATIENCE);
  // The transcript below the panel says the same as the panel, or as the one of `sayWhy`.
  const hidden = element(
    'style',
    `.shoulders-transcript-${model.get('transcript_name')} { display: none; }`
  );
  document.head.append(hidden);
  let cleanUp;
  try {
    code ??= load(model);
    const { panel, css } = await code;
    clearTimeout(stuck);
    const place = document.createElement('div');
    el.replaceChildren(element('style', css), place);
    cleanUp = await panel.render({ model, el: place, ...rest });
  } catch (error) {
    code = null;
    clearTimeout(stuck);
    sayWhy(el, model, error.message);
  }
  return () => {
    clearTimeout(stuck);
    hidden.remove();
    cleanUp?.();
  };
}

export default { render };
