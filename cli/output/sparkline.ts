const blocks = "▁▂▃▄▅▆▇█";
const maxWidth = 48;

/** A line of blocks, as high as the values; a blank where nothing was. Neighbours are added if there are more than fit. */
export function sparkline(values: readonly number[], width = maxWidth): string {
  const perBlock = Math.max(1, Math.ceil(values.length / width));
  const sums = Array.from({ length: Math.ceil(values.length / perBlock) }, (_, index) =>
    values.slice(index * perBlock, (index + 1) * perBlock).reduce((sum, value) => sum + value, 0),
  );
  const highest = Math.max(...sums);
  return sums.map((sum) => (sum <= 0 ? " " : (blocks[Math.ceil((sum / highest) * blocks.length) - 1] ?? ""))).join("");
}
