import { once } from "node:events";

/**
 * Where a Node process of ours spends its time, without starting it differently: SIGUSR1 opens its inspector, which is closed again
 * afterwards. One process at a time, since all open it on the same port. Not for sandbox children: their permissions forbid it.
 */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const inspectorPort = 9_229;

export async function withInspector<T>(pid: number, action: (send: Send) => Promise<T>): Promise<T> {
  process.kill(pid, "SIGUSR1");
  const socket = new WebSocket(await debuggerUrl());
  await once(socket, "open");
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  let next = 1;
  const send: Send = (method, params = {}) =>
    new Promise((resolve) => {
      const id = next++;
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  try {
    return await action(send);
  } finally {
    await send("Runtime.evaluate", {
      expression: "setTimeout(() => process.getBuiltinModule('node:inspector').close(), 50), 0",
    });
    socket.close();
  }
}

type Send = (method: string, params?: object) => Promise<unknown>;

/** Profiles from the call of the result's function until the next. */
export function cpuProfile(pid: number, during: () => Promise<void>): Promise<CpuProfile> {
  return withInspector(pid, async (send) => {
    await send("Profiler.enable");
    await send("Profiler.setSamplingInterval", { interval: 500 });
    await send("Profiler.start");
    await during();
    const { profile } = (await send("Profiler.stop")) as { profile: CpuProfile }; // By its protocol.
    return profile;
  });
}

/** Bytes of JavaScript heap in use after a full collection. */
export function heapBytes(pid: number): Promise<number> {
  return withInspector(pid, async (send) => {
    await send("HeapProfiler.collectGarbage");
    await send("HeapProfiler.collectGarbage");
    const { usedSize } = (await send("Runtime.getHeapUsage")) as { usedSize: number }; // By its protocol.
    return usedSize;
  });
}

/** Self time by function, ms, most first; idle time left out. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): readonly { readonly name: string; readonly ms: number }[] {
  const named = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName || "(anonymous)"} ${url.replace(/^.*\/(node_modules\/)?/, "")}:${lineNumber + 1}`,
    ]),
  );
  const byName = new Map<string, number>();
  for (const [index, sample] of samples.entries()) {
    const name = named.get(sample) ?? "";
    byName.set(name, (byName.get(name) ?? 0) + (timeDeltas[index] ?? 0) / 1_000);
  }
  return [...byName]
    .filter(([name]) => !name.startsWith("(idle)"))
    .map(([name, ms]) => ({ name, ms }))
    .toSorted((a, b) => b.ms - a.ms);
}

async function debuggerUrl(): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(`http://127.0.0.1:${inspectorPort}/json/list`);
      const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[]; // By its protocol.
      if (target !== undefined) return target.webSocketDebuggerUrl;
    } catch (error) {
      if (attempt === 50) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
