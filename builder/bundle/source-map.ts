import { SourceMap, type SourceMapPayload } from "node:module";

/** A place in a source, counted from 1. */
export interface Origin {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface StackMapper {
  find(line: number, column: number): Origin | undefined;
  /** Frames in terms of sources; frames that lie outside the bundle are dropped. */
  mapStack(stack: string): string;
}

const frame = /^\s*at (?:(.*?) \()?.*?:(\d+):(\d+)\)?$/;
const stackBytes = 16_384;
/** A line beyond is no frame: a pattern would try each of its parts from each of its places, and the code that throws an error controls its stack. */
const frameCharacters = 1_000;
/** The bundle's own first module, which only hands the component over; the plugin names it. */
const handingOver = "headwater:entry";

/** Reads a stack of a bundle through its source map, as stored under `<hash>.map`. */
export function createStackMapper(map: string): StackMapper {
  // Written by the bundler.
  const sources = new SourceMap(JSON.parse(map) as SourceMapPayload);

  function find(line: number, column: number): Origin | undefined {
    const origin = sources.findOrigin(line, column);
    return "fileName" in origin && origin.fileName && origin.fileName !== handingOver
      ? { file: origin.fileName, line: origin.lineNumber, column: origin.columnNumber }
      : undefined;
  }

  function mapLine(line: string): string | undefined {
    const [whole, name, row, column] = (line.length <= frameCharacters && frame.exec(line)) || [];
    if (whole === undefined) return /^\s*at /.test(line) ? undefined : line;
    const origin = find(Number(row), Number(column));
    if (!origin) return undefined;
    const place = `${origin.file}:${origin.line}:${origin.column}`;
    return name ? `    at ${name} (${place})` : `    at ${place}`;
  }

  return {
    find,
    mapStack: (stack) =>
      stack
        .slice(0, stackBytes)
        .split("\n")
        .map(mapLine)
        .filter((line) => line !== undefined)
        .join("\n"),
  };
}
