// Promise rules only: a forgotten promise in shutdown code is work that nobody waits for. Everything else is biome's.
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['build/', '**/dist/'] },
  {
    files: ['src/**/*.ts', 'packages/*/{src,test}/**/*.ts', 'test/**/*.ts'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      // `return promise` inside `try` skips the catch and the finally.
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
    },
  },
  {
    // Not in tests: async request listeners and rejections that are no errors are what they put under a server.
    files: ['src/**/*.ts', 'packages/*/src/**/*.ts'],
    rules: {
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
    },
  },
)
