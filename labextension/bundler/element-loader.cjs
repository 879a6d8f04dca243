// No minifier shortens `React.createElement`, which JSX becomes thousands of times; a constant it does.
const USE = /\bReact\.([a-z]\w+|Fragment)\b/g;

module.exports = code => {
  const uses = Array.from(code.matchAll(USE), ([, name]) => name);
  const often = new Set(
    uses.filter((name, index) => uses.indexOf(name) < index)
  );
  const constants = Array.from(
    often,
    name => `const React_${name} = React.${name};`
  );
  return (
    constants.join('') +
    code.replace(USE, (use, name) => (often.has(name) ? `React_${name}` : use))
  );
};
