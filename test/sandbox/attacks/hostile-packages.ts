import { type FakePackage, startRegistry } from "../../integration/builder/registry.ts";
import { openWholeBuilder } from "../../integration/builder/support.ts";

/** A component whose name is what the package exports. */
export const importing = 'import one from "one";\nexport default { name: JSON.stringify(one), run() {} };\n';

/** What the builder says of a package with such a main module. */
export async function verdict(
  text: string,
  fields: Partial<FakePackage> = {},
  options: Parameters<typeof openWholeBuilder>[0] = {},
): Promise<string> {
  const { npm } = await startRegistry([{ name: "one", ...fields, files: { "index.js": text, ...fields.files } }]);
  const { builder } = await openWholeBuilder({ npm, ...options });
  return await builder.build({ code: importing, owner: "u_attacker" }).then(
    ({ definition }) => `built ${definition.name}`,
    (error: Error) => error.message,
  );
}
