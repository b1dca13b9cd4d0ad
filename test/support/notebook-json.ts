/** A notebook as Jupyter stores one, with things in it that nobody but its owner knows. */
export const notebookJson = (over: { readonly firstSource?: readonly string[] } = {}): string =>
  `${JSON.stringify(
    {
      cells: [
        { cell_type: 'markdown', id: 'intro', metadata: { 'x-own': { kept: true } }, source: ['# Title\n', 'Words é'] },
        {
          cell_type: 'code',
          execution_count: 3,
          id: 'calc',
          metadata: { tags: ['a'] },
          outputs: [
            { name: 'stdout', output_type: 'stream', text: ['1\n', '2\n'] },
            { data: { 'image/png': 'iVBORw0KGgo=', 'text/plain': ['<Figure>'] }, metadata: {}, output_type: 'display_data' },
            { ename: 'ValueError', evalue: 'no', output_type: 'error', traceback: ['\u001b[31mValueError\u001b[0m: no'] },
          ],
          source: over.firstSource ?? ['x = 1\n', 'print(x)\n', 'x'],
        },
        { cell_type: 'code', execution_count: null, id: 'empty', metadata: {}, outputs: [], source: [] },
        { cell_type: 'raw', metadata: {}, source: 'plain string' },
      ],
      metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' }, language_info: { name: 'python', version: '3.12.1' } },
      nbformat: 4,
      nbformat_minor: 5,
    },
    null,
    1,
  )}\n`
