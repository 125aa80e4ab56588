const decimal = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const binary = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** The amount of a quantity of Kubernetes: `500m` is 0.5, `1Ki` is 1024, `1e3` is 1000. NaN for other texts. */
export function amountOf(quantity: string | number): number {
  if (typeof quantity === "number") return quantity;
  const [, digits = "", suffix = ""] = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(quantity) ?? [];
  const number = digits === "" ? Number.NaN : Number(digits);
  if (binary.includes(suffix)) return number * 1024 ** binary.indexOf(suffix);
  return decimal.includes(suffix) ? number * 1000 ** (decimal.indexOf(suffix) - decimal.indexOf("")) : Number.NaN;
}
