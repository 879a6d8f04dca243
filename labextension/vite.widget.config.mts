import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

const OUT = '../jupyter_ai_shoulders/kernel/panel/static';

/** Puts the style sheets of the panel into its module, which has them in a shadow tree; writes the page's own beside it. */
function stylesInside(): Plugin {
  return {
    name: 'styles-inside',
    enforce: 'post',
    generateBundle(_, bundle) {
      const sheets = Object.values(bundle).filter(({ fileName }) =>
        fileName.endsWith('.css')
      );
      const text = sheets
        .map(sheet => (sheet.type === 'asset' ? String(sheet.source) : ''))
        .join('\n');
      sheets.forEach(({ fileName }) =>
        Reflect.deleteProperty(bundle, fileName)
      );
      let marks = 0;
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === 'chunk') {
          chunk.code = chunk.code.replace(
            /(["'`])__SHOULDERS_STYLES__\1/g,
            () => {
              marks++;
              return JSON.stringify(text);
            }
          );
        }
      }
      if (marks !== 1 || text === '') {
        this.error('The panel has lost its styles.');
      }
      const page = readFileSync('style/widget/host-page.css', 'utf-8');
      this.emitFile({ type: 'asset', fileName: 'panel.css', source: page });
    }
  };
}

/** The panel in a notebook's output as one module that needs nothing else. Run by `npm run build:widget`. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [stylesInside()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    minify: true,
    cssCodeSplit: false,
    reportCompressedSize: false,
    lib: {
      entry: 'src/widget/index.ts',
      formats: ['es'],
      fileName: () => 'panel.js'
    },
    // A library keeps its blanks otherwise.
    rolldownOptions: { output: { codeSplitting: false, minify: true } }
  }
});
