import type { ComponentResource } from "../../../crds/component.ts";
import type { SourceResource } from "../../../crds/source.ts";
import { asWritten, readElsewhere, readUrl, type OwnCode as AnyOwnCode } from "../../configured/own-code.ts";
import type { OperatorPorts } from "../../ports.ts";
import type { Blocked } from "./blocked.ts";

/** The code for a source's own component, or why there is none. */
export type OwnCode = AnyOwnCode<Blocked["reason"]>;

/** Reads the code of a source that does not refer to a component. */
export async function readOwnCode(
  { source, component, owner }: { source: SourceResource; component: ComponentResource | undefined; owner: string | undefined },
  ports: Pick<OperatorPorts, "configMaps" | "fetchComponent">,
): Promise<OwnCode | undefined> {
  const { code, entry, files, codeFrom, url } = source.spec;
  if (code !== undefined) return asWritten({ code, entry, files });
  if (codeFrom !== undefined) {
    const { name, key } = codeFrom.configMapKeyRef;
    return readElsewhere(`ConfigMap ${name}`, "ConfigMapNotFound", async () => ({
      code: await ports.configMaps.read(source.metadata.namespace, name, key),
    }));
  }
  return url === undefined ? undefined : readUrl(url, { maker: source, component, owner }, ports);
}
