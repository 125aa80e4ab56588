import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import type { ProcessUsage, SandboxProcess, SandboxProcesses } from "../../../runner/sandbox/processes/port.ts";

interface Started {
  readonly process: SandboxProcess;
  readonly exit: Promise<string>;
}

/** Starts a program of Node's. */
export function startProgram(processes: SandboxProcesses, program: string, command = process.execPath): Started {
  const { promise: exit, resolve: onExit } = Promise.withResolvers<string>();
  return { process: processes.start({ command: [command, "-e", program], isLowPriority: false, onExit }), exit };
}

/** Echoes its channel, until a line ends it. */
export const echo = `
  const channel = new (require("node:net").Socket)({ fd: 3 });
  channel.on("data", (bytes) => { channel.write(bytes); if (bytes.includes("end")) channel.end(() => process.exit(7)); });
`;

const measured = (each: SandboxProcess): Promise<ProcessUsage> => new Promise((resolve) => each.measure(resolve));

/** What every implementation of `SandboxProcesses` does. */
export function describeProcesses(processes: () => SandboxProcesses): void {
  it("carries the bytes of the channel in both directions, and reports the exit code", async () => {
    const { process: started, exit } = startProgram(processes(), echo);
    started.channel?.write("one");
    expect(String((await once(started.channel ?? process, "data"))[0])).toBe("one");
    started.channel?.write("end");
    expect(await exit).toBe("exit code 7");
  });

  it("carries what the process writes to its standard error", async () => {
    const { process: started, exit } = startProgram(processes(), `process.stderr.write("failed")`);
    expect(await text(started.stderr ?? process.stdin)).toBe("failed");
    expect(await exit).toBe("exit code 0");
  });

  it("gives the process a second channel, an environment without secrets, and no other descriptor", async () => {
    const { process: started } = startProgram(
      processes(),
      `const { readdirSync, readlinkSync } = require("node:fs");
       const links = readdirSync("/proc/self/fd").flatMap((fd) => { try { return [[Number(fd), readlinkSync("/proc/self/fd/" + fd)]]; } catch { return []; } });
       process.stderr.write(JSON.stringify({ env: Object.keys(process.env), sockets: links.filter(([, to]) => to.startsWith("socket")).map(([fd]) => fd) }));`,
    );
    expect(JSON.parse(await text(started.stderr ?? process.stdin))).toEqual({ env: ["UV_THREADPOOL_SIZE"], sockets: [2, 3, 4] });
    expect(started.descriptors).toBeDefined();
  });

  it("measures memory and CPU time", async () => {
    const { process: started } = startProgram(
      processes(),
      `while (process.cpuUsage().user < 200_000); require("node:fs").writeSync(2, "computed"); setInterval(() => {}, 1000)`,
    );
    await once(started.stderr ?? process, "data");
    await measured(started);
    const { residentBytes, mainThreadCpuMs } = await measured(started);
    expect(residentBytes).toBeGreaterThan(2 ** 20);
    expect(mainThreadCpuMs).toBeGreaterThan(50);
    started.kill();
  });

  it("kills, closes the channels, and reports the signal", async () => {
    const { process: started, exit } = startProgram(processes(), echo);
    started.channel?.write("one");
    await once(started.channel ?? process, "data");
    started.kill();
    expect(await exit).toBe("SIGKILL");
    await expect.poll(() => started.channel?.readableEnded).toBe(true);
  });

  it("reports a program that does not exist, after it has returned", async () => {
    expect(await startProgram(processes(), "", "/nonexistent/node").exit).toMatch(/ENOENT/);
  });
}
