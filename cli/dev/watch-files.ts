import { watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";

/** Editors write a file in several steps: changes within this time are one. */
const settleMs = 25;

/**
 * Calls back after one of the files has changed. It watches their folders, because editors replace a file when they save it, which ends the
 * watch of the file itself.
 */
export class FileWatch {
  readonly #onChange: () => void;
  readonly #folders = new Map<string, FSWatcher>();
  #files: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Replaces the files that are watched. */
  set(paths: readonly string[]): void {
    this.#files = new Set(paths);
    const folders = new Set(paths.map((path) => dirname(path)));
    for (const [folder, watcher] of this.#folders) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of folders) if (!this.#folders.has(folder)) this.#folders.set(folder, this.#watchFolder(folder));
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #watchFolder(folder: string): FSWatcher {
    const watcher = watch(folder, (_event, name) => {
      const isWatched = name === null || [...this.#files].some((path) => dirname(path) === folder && basename(path) === name);
      if (isWatched) this.#settle();
    });
    // The folder is gone: a later change of the files names others.
    watcher.on("error", () => watcher.close());
    return watcher;
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onChange, settleMs);
  }
}
