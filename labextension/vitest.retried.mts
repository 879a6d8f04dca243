/**
 * Names the unit tests that failed and passed when run again (`--retry`), which vitest keeps to itself. The same for
 * the tests in Python is in tests/support/flaky_tests.py. Started by vitest, see vitest.config.mts.
 */

import type { Reporter, TestCase } from 'vitest/node';

export default class Retried implements Reporter {
  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) {
      const [error] = test.result().errors ?? [];
      const said = error === undefined ? '' : `: ${error.message}`;
      this._names.push(`${test.module.moduleId} > ${test.fullName}${said}`);
    }
  }

  onTestRunEnd(): void {
    if (this._names.length > 0) {
      const lines = ['failed once, run again:', ...this._names];
      console.warn(`\n${lines.join('\n  ')}`);
    }
  }

  private readonly _names: string[] = [];
}
