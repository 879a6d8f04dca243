import eslint from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['lib/', 'coverage/', 'src/wire/generated.ts']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.ts', '**/*.tsx', '**/*.mts'],
    extends: [
      eslint.configs.recommended,
      tseslint.configs.strictTypeChecked,
      tseslint.configs.stylisticTypeChecked,
      reactHooks.configs.flat['recommended-latest']
    ],
    languageOptions: {
      parserOptions: {
        // A third faster on the command line than `projectService`, which opens files as an editor does.
        project: ['tsconfig.json'],
        tsconfigRootDir: import.meta.dirname
      }
    },
    rules: {
      complexity: ['error', { max: 10, variant: 'modified' }],
      eqeqeq: 'error',
      'max-depth': ['error', 3],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // JupyterLab's command and signal handlers are typed to return unknown, so an arrow around one is idiomatic.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true }
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }
      ],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true }
      ]
    }
  },
  { plugins: { jupyter } },
  jupyter.configs.recommended,
  {
    files: [
      'src/chat/**',
      'src/ui/**',
      'src/host/**',
      'src/lab/**',
      'src/text/diff.ts',
      'src/review/commands.ts',
      'src/*/commandIds.ts',
      'src/plugins/**'
    ],
    rules: {
      // The views are one lazy chunk, imported when the panel is first shown; plugins import what activation needs.
      'jupyter/prefer-lazy-imports': 'off'
    }
  },
  {
    files: ['**/__tests__/**'],
    rules: {
      // A fake has the shape of the real thing, awaited or not.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      'jupyter/no-untranslated-string': 'off'
    }
  }
);
