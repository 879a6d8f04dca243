// What is seen without a view: it loads with the lab, on every page. A view brings its own files, when it is first
// shown: see `src/chat/styles.ts`.
import './frame.css';
import './marks.css';
import './caret.css';
