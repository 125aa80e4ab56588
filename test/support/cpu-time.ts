/**
 * CPU time of this process, in ms, for a synchronous action: the smallest of several measurements. Unlike elapsed time it hardly
 * depends on what else the machine does.
 */
export function cpuMsOf(action: () => void, measurements = 3): number {
  const times = Array.from({ length: measurements }, () => {
    const before = process.cpuUsage();
    action();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
