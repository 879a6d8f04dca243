import { expect, test } from 'vitest';

import { causeOf, type IFailingLine } from '../errorCause';

const RULE = '-'.repeat(75);

const CASES: Record<string, [string[], IFailingLine | null]> = {
  'IPython 8': [
    [
      `\u001b[0;31m${RULE}\u001b[0m`,
      '\u001b[0;31mNameError\u001b[0m         Traceback (most recent call last)',
      'Cell \u001b[0;32mIn[3], line 2\u001b[0m\n\u001b[1;32m      1\u001b[0m rate = 2\n\u001b[0;32m----> 2\u001b[0m total = price * rate',
      "NameError: name 'price' is not defined"
    ],
    { number: 2, code: 'total = price * rate', prompt: 3 }
  ],
  'a function of another cell': [
    [
      'Cell In[7], line 1\n----> 1 mean([])',
      'Cell In[2], line 2, in mean(values)\n      1 def mean(values):\n----> 2     return sum(values) / len(values)',
      'ZeroDivisionError: division by zero'
    ],
    { number: 2, code: 'return sum(values) / len(values)', prompt: 2 }
  ],
  'inside a library': [
    [
      'Cell In[5], line 1\n----> 1 frame["colour"]',
      'File /opt/pandas/core/frame.py:4102, in DataFrame.__getitem__(self, key)\n   4100     return x\n-> 4102 indexer = self.columns.get_loc(key)',
      "KeyError: 'colour'"
    ],
    { number: 1, code: 'frame["colour"]', prompt: 5 }
  ],
  'a syntax error': [
    [
      '  Cell In[4], line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax'
    ],
    { number: 3, code: 'x = = 1', prompt: 4 }
  ],
  'IPython 7': [
    ['<ipython-input-6-0a1b> in <module>\n----> 1 1 / 0\n'],
    { number: 1, code: '1 / 0', prompt: 6 }
  ],
  'another kernel': [['Error in f(x): no\nTraceback:'], null]
};

test.each(Object.entries(CASES))(
  'the failing line is the last one of the user: %s',
  (_, [traceback, line]) => {
    const cause = causeOf({ ename: 'E', evalue: 'm', traceback });
    expect(cause).toEqual({ name: 'E', message: 'm', line });
  }
);

test('a message of many lines is its first one, without control characters', () => {
  const cause = causeOf({
    ename: 'ValueError',
    evalue: '\u001b[1mno\u001b[0m\nmore'
  });
  expect(cause).toEqual({ name: 'ValueError', message: 'no', line: null });
});
