import { fileLimits } from "../../domain/files/run-files.ts";

/** Joins chunks to parts. While one is being stored, the next one fills. */
export class PartWriter {
  readonly #write: (bytes: Buffer) => Promise<string>;
  readonly #names: string[] = [];
  #part: Buffer | undefined;
  #filled = 0;
  #storing: Promise<void> | undefined;

  constructor(write: (bytes: Buffer) => Promise<string>) {
    this.#write = write;
  }

  async add(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length;) {
      this.#part ??= Buffer.allocUnsafeSlow(fileLimits.partBytes);
      const count = chunk.copy(this.#part, this.#filled, at);
      at += count;
      this.#filled += count;
      if (this.#filled === fileLimits.partBytes) await this.#store();
    }
  }

  /** @returns the names of all parts, when they are stored */
  async end(): Promise<readonly string[]> {
    if (this.#filled > 0) await this.#store();
    await this.#storing;
    return this.#names;
  }

  async #store(): Promise<void> {
    await this.#storing;
    const bytes = this.#part?.subarray(0, this.#filled) ?? Buffer.alloc(0);
    [this.#part, this.#filled] = [undefined, 0];
    this.#storing = this.#write(bytes).then((name) => void this.#names.push(name));
    this.#storing.catch(() => undefined); // Thrown by the next call; if the client leaves first, there is none.
  }
}
