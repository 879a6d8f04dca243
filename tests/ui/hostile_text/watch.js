// What `watch.py` evaluates in a page. Returns functions of the element that shows untrusted text.
(() => {
// What stands there that untrusted text may not put there. Where its markup is rendered there are only these tags; the
// lab draws code, formulas and icons its own way.
const faults = root => {
    const PROSE = new Set(('a abbr b blockquote br button code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i'
        + ' img ins kbd li mark ol p pre s samp small span strong sub summary sup svg g path rect circle polygon'
        + ' table tbody td tfoot th thead tr u ul var').split(' '));
    const NEVER = 'script, object, embed, base, meta, link, style, frame, frameset, portal, fencedframe,'
        + ' video, audio, source, track, picture, marquee, input[type=image], template, noscript, math, foreignObject,'
        + ' animate, set, use, image, form:not([class^=shoulders-]), .jp-Dialog, .jp-Toolbar';
    const ADDRESSES = ['href', 'src', 'srcset', 'action', 'formaction', 'poster', 'data', 'background', 'xlink:href',
        'ping', 'cite', 'longdesc', 'codebase', 'manifest', 'lowsrc', 'dynsrc'];
    const found = [];
    const say = (what, element) => found.push(`${what}: ${element.outerHTML.slice(0, 160)}`);
    const isDrawn = element => element.closest('mjx-container, .MathJax, .katex, .shoulders-Icon') !== null;
    for (const element of root.querySelectorAll('*')) {
        const tag = element.localName;
        if (element.matches(NEVER) && !isDrawn(element)) {
            say('forbidden element', element);
        }
        const isUntrusted = element.closest('.shoulders-Markdown') !== null;
        if (isUntrusted && !PROSE.has(tag) && !isDrawn(element)) {
            say('element in prose', element);
        }
        if (isUntrusted && (element.id !== '' && !element.id.startsWith(':') && !isDrawn(element))) {
            say('id in prose', element);
        }
        for (const {name, value} of element.attributes) {
            const bare = value.replace(/[\s\u0000-\u001f]/g, '').toLowerCase();
            if (/^on/.test(name) || /commandlinker/.test(name) || name === 'is' || name === 'slot') {
                say(`attribute ${name}`, element);
            }
            if (ADDRESSES.includes(name)) {
                const plain = tag === 'img' ? /^(data:image\/(png|jpe?g|gif|webp|svg\+xml)|blob:)/
                    : /^(https?:|mailto:|#)/;
                if (!plain.test(bare)) {
                    say(`address in ${name}`, element);
                }
            }
            if (name === 'style' && /url\(|position:fixed/i.test(bare)) {
                say('style', element);
            }
        }
        if (tag === 'iframe' && /allow-(scripts|same-origin|top|popups|forms)/.test(element.sandbox.value)
            || tag === 'iframe' && !element.hasAttribute('sandbox')) {
            say('frame without a sandbox', element);
        }
        if (tag === 'a' && element.hasAttribute('href')) {
            const isApart = element.rel.includes('noopener') && element.rel.includes('noreferrer');
            if (!isApart || element.target !== '_blank') {
                say('link that keeps a hold', element);
            }
            const note = element.querySelector('.shoulders-Markdown-host');
            let shown = null;
            try {
                shown = new URL(element.textContent.trim()).host;
            } catch {
                shown = note?.textContent.trim().replace(/^\(|\)$/g, '') ?? element.textContent.trim();
            }
            if (element.protocol !== 'mailto:' && note === null && shown !== element.host
                || note !== null && !note.textContent.includes(element.host)) {
                say(`link to ${element.host} that shows ${shown.slice(0, 40)}`, element);
            }
        }
    }
    return found;
};

// Looks at all of a conversation, and opens what can be opened. Text of the user and prose of the model stand as they
// are; everything else is returned to look for what is hidden in it.
const walk = async root => {
    const twoFrames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const isComing = page => page.childElementCount === 0 && page.getBoundingClientRect().bottom > 0
        && page.getBoundingClientRect().top < innerHeight;
    const frame = async () => {
        do {
            await twoFrames();
        } while ([...root.querySelectorAll('.shoulders-Page')].some(isComing));
    };
    const texts = new Set();
    const found = new Set();
    const prose = new Set();
    let opened = 0;
    const isProse = node => node.closest('.shoulders-Markdown, .shoulders-User-text, textarea') !== null;
    const list = root.querySelector('[role=log]');
    let scroller = list;
    while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) {
        scroller = scroller.parentElement;
    }
    const look = () => {
        for (const block of root.querySelectorAll('.shoulders-Markdown')) {
            prose.add(block);
        }
        faults(root).forEach(each => found.add(each));
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            if (!isProse(walker.currentNode.parentElement)) {
                texts.add(walker.currentNode.textContent);
            }
        }
        for (const element of root.querySelectorAll('[title], [aria-label], [alt], [placeholder]')) {
            if (!isProse(element)) {
                for (const name of ['title', 'aria-label', 'alt', 'placeholder']) {
                    texts.add(element.getAttribute(name) ?? '');
                }
            }
        }
        if (scroller.scrollWidth > scroller.clientWidth + 1) {
            const edge = scroller.getBoundingClientRect().right + 1;
            const wide = [...scroller.querySelectorAll('*')].filter(
                each => each.getBoundingClientRect().right > edge);
            found.add(`wider than the panel: ${wide[0]?.outerHTML.slice(0, 200)}`);
        }
    };
    const open = async () => {
        const closed = [...root.querySelectorAll(
            '[role=log] button[aria-expanded=false]:not([aria-haspopup]):not([data-walked])')];
        const previews = [...root.querySelectorAll('[role=log] button:not([data-walked])')]
            .filter(each => /^Preview/.test(each.textContent));
        for (const button of [...closed, ...previews]) {
            button.dataset.walked = '';
            button.click();
            opened++;
        }
        await frame();
        return closed.length + previews.length;
    };
    scroller.scrollTop = 0;
    await frame();
    for (;;) {
        for (let round = 0; round < 4 && await open() > 0; round++);
        look();
        const before = scroller.scrollTop;
        scroller.scrollTop += scroller.clientHeight * 0.8;
        await frame();
        if (scroller.scrollTop <= before) {
            break;
        }
    }
    return {faults: [...found], texts: [...texts], prose: prose.size, opened};
};

return {faults, walk};
})()
