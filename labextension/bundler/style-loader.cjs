const path = require('node:path');

const addStyle = JSON.stringify(path.join(__dirname, 'add-style.js'));

module.exports = css =>
  `import { addStyle } from ${addStyle};\naddStyle(${JSON.stringify(css)});`;
