import { afterAll, beforeAll } from "vitest";
import { cpuMsOfTree } from "../../scripts/cpu-time.ts";

declare module "vitest" {
  interface TaskMeta {
    /** Id of the process that ran the file, for the order of its files. */
    workerId?: number;
    /** CPU time of the file, in ms, with that of its child processes, and of those that the files of a worker share while it runs, such as the shared sandbox. */
    cpuMs?: number;
  }
}

let before = 0;

beforeAll(() => {
  before = cpuMsOfTree(process.pid);
});

// oxlint-disable-next-line no-empty-pattern -- vitest accepts no other first argument
afterAll(({}, file) => {
  Object.assign(file.meta, { workerId: process.pid, cpuMs: cpuMsOfTree(process.pid) - before });
});
