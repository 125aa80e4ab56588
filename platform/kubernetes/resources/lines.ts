const newline = 0x0a;

/** Lines of a stream, without their terminators. Text after the last terminator is incomplete and dropped. */
export async function* createLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      pieces.push(chunk.subarray(from, end));
      yield decoder.decode(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
      pieces = [];
      from = end + 1;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
}
