// Merged into the configuration of @jupyter/builder. Modules that several chunks share become
// separate chunks (the default does so from 20 kB on), and style sheets are minified.
module.exports = {
  optimization: {
    splitChunks: { chunks: 'async', minSize: 800 }
  },
  module: {
    rules: [
      {
        test: /(?<!\.raw)\.css$/,
        enforce: 'pre',
        loader: 'builtin:lightningcss-loader',
        options: { minify: true }
      }
    ]
  }
};
