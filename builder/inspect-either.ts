import type { BundleText } from "./bundle/bundle.ts";
import type { Inspected, InspectionResult } from "./inspect.ts";

/**
 * Inspects a bundle. If a package failed in it, the bundle is made once more without strict mode: packages of old assign to names that
 * are not declared, or hold what only V8 refuses, such as two parameters of one name.
 * @throws the first rejection, when the second bundle is rejected too
 */
export async function inspectEither(
  first: BundleText,
  look: (bundled: BundleText) => Promise<InspectionResult>,
  makeSloppy: () => Promise<BundleText>,
): Promise<{ readonly bundled: BundleText; readonly inspected: Inspected }> {
  const strict = await look(first);
  if (strict.outcome === "read") return { bundled: first, inspected: strict.inspected };
  if (!first.isStrict || !strict.isOfPackage) throw strict.error;
  const second = await makeSloppy();
  const sloppy = await look(second);
  if (sloppy.outcome === "rejected") throw strict.error;
  return { bundled: second, inspected: sloppy.inspected };
}
