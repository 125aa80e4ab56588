import type { BundleText } from "./bundle/bundle.ts";
import type { Inspected, InspectionResult } from "./inspect.ts";

/**
 * Inspects a bundle. If a package fails in it, bundles once more without strict mode: old packages assign to undeclared names, or have
 * code that only V8 rejects, such as two parameters with one name.
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
