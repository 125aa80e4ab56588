import { finished, pipeline } from "./stream.ts";

interface Ending {
  readonly signal?: unknown;
  readonly end?: boolean;
}
const isOptions = (value: unknown): value is Ending =>
  typeof value === "object" &&
  value !== null &&
  ("signal" in value || "end" in value) &&
  !("pipe" in value || "write" in value || Symbol.asyncIterator in value || Symbol.iterator in value);

/** `node:stream/promises`. */
export default {
  pipeline: (...streams: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const last = streams.at(-1);
      const options = streams.length > 1 && isOptions(last) ? last : undefined;
      const list = options === undefined ? streams : streams.slice(0, -1);
      const running = pipeline(...list, (error: unknown, value: unknown) => (error ? reject(error) : resolve(value)));
      const { signal } = options ?? {};
      const watched = signal as
        | { aborted: boolean; reason: unknown; addEventListener(type: string, listener: () => void): void }
        | undefined;
      const abort = (): void =>
        (running as { destroy(error: unknown): void }).destroy(
          Object.assign(new Error("The operation was aborted"), {
            name: "AbortError",
            code: "ABORT_ERR",
            cause: watched?.reason,
          }),
        );
      if (watched?.aborted === true) abort();
      else watched?.addEventListener("abort", abort);
    }),
  finished: (stream: unknown, options: Record<string, unknown> = {}): Promise<void> =>
    new Promise((resolve, reject) => {
      finished(stream, options, (error: unknown) => (error ? reject(error) : resolve()));
    }),
};
