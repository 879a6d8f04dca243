import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/__tests__/**/*.spec.{ts,tsx}'],
    environment: 'jsdom',
    setupFiles: ['vitest.setup.mts'],
    restoreMocks: true,
    testTimeout: 20_000,
    coverage: { include: ['src/**'], exclude: ['src/wire/generated.ts'] }
  }
});
