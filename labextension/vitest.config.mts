import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The fixtures both languages are held to lie in the repository's tests/.
  server: { fs: { allow: ['..'] } },
  // Node would be given its own SHA-256; the page's is the one to test.
  resolve: {
    alias: {
      'lib0/hash/sha256': `${import.meta.dirname}/node_modules/lib0/hash/sha256.js`
    }
  },
  test: {
    include: ['src/**/__tests__/**/*.spec.{ts,tsx}'],
    environment: 'jsdom',
    // One process for many files, each in a context of its own: a third of the time that a process for each takes.
    pool: 'vmThreads',
    setupFiles: ['vitest.setup.mts'],
    reporters: ['default', './vitest.retried.mts'],
    restoreMocks: true,
    testTimeout: 20_000,
    coverage: { include: ['src/**'], exclude: ['src/wire/generated.ts'] }
  }
});
