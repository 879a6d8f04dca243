// What is seen without a view: it loads with the lab, on every page. A view brings its own files, when it is first
// shown: see `src/chat/styles.ts`.
import './lab/panel-frame.css';
import './lab/cell-markers.css';
import './lab/file-browser.css';
import './lab/typing-guard.css';
