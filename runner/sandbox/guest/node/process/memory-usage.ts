/** Constant figures: an isolate cannot read its own usage, and programs must not conclude that memory is short. */
export function memoryUsage(): Record<string, number> {
  return { rss: 67_108_864, heapTotal: 33_554_432, heapUsed: 16_777_216, external: 1_048_576, arrayBuffers: 0 };
}
memoryUsage.rss = (): number => 67_108_864;
