const path = require('node:path');
const { rspack } = require('@rspack/core');

const ours = name => path.join(__dirname, 'bundler', name);

// The builder's rule for style sheets writes 300 characters of glue for each; ours is one call.
class SmallStyles {
  apply(compiler) {
    const rule = compiler.options.module.rules.find(({ use }) =>
      use?.includes('style-loader')
    );
    rule.use = [
      ours('style-loader.cjs'),
      { loader: 'builtin:lightningcss-loader', options: { minify: true } }
    ];
  }
}

// Merged into the configuration of @jupyter/builder. Modules that several chunks share become
// separate chunks (the default does so from 20 kB on).
module.exports = {
  output: { chunkLoadingGlobal: 'shouldersChunks' },
  optimization: {
    // The names of modules, chunks and exports are in every file: the shortest.
    chunkIds: 'natural',
    mangleExports: 'size',
    moduleIds: 'natural',
    minimizer: [
      new rspack.SwcJsMinimizerRspackPlugin({
        minimizerOptions: {
          ecma: 2022,
          compress: { passes: 3 },
          format: { comments: false },
          mangle: true
        }
      })
    ],
    splitChunks: { chunks: 'async', minSize: 800 }
  },
  module: {
    rules: [
      {
        test: /\.js$/,
        include: path.join(__dirname, 'lib'),
        enforce: 'pre',
        loader: ours('element-loader.cjs')
      }
    ]
  },
  plugins: [new SmallStyles()]
};
