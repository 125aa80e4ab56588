import { checkComponentCode, type ComponentCode } from "../../domain/component-code.ts";
import { HeadwaterError, LimitExceeded } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";
import { madeForGeneration } from "./component-of.ts";
import type { ComponentResource, SourceResource } from "./resources.ts";
import type { Blocked } from "./blocked.ts";

/** What a source's own component is to hold, or why there is nothing. */
export type OwnCode = { readonly code: ComponentCode } | { readonly blocked: Blocked };

/** Reads the code of a source that refers to no component. An address is read once for each generation. */
export async function readOwnCode(
  { source, component, owner }: { source: SourceResource; component: ComponentResource | undefined; owner: string | undefined },
  ports: Pick<OperatorPorts, "configMaps" | "fetchComponent">,
): Promise<OwnCode | undefined> {
  const { code, entry, files, codeFrom, url } = source.spec;
  if (code !== undefined) return { code: asWritten({ code, entry, files }) };
  if (codeFrom !== undefined) return checked(`ConfigMap ${codeFrom.configMapKeyRef.name}`, () => readConfigMap(source, ports));
  if (url === undefined) return undefined;
  if (component !== undefined && isReadFor(source, component)) return { code: asWritten(component.spec) };
  return checked(url, () => ports.fetchComponent(url, owner));
}

/** Without fields that are absent: a spec says nothing of what it does not have. */
function asWritten({ code, entry, files }: ComponentCode): ComponentCode {
  return { code, ...(entry === undefined ? {} : { entry }), ...(files === undefined ? {} : { files }) };
}

async function readConfigMap(
  { metadata, spec }: SourceResource,
  { configMaps }: Pick<OperatorPorts, "configMaps">,
): Promise<ComponentCode> {
  const { name = "", key = "" } = spec.codeFrom?.configMapKeyRef ?? {};
  return { code: await configMaps.read(metadata.namespace, name, key) };
}

function isReadFor({ metadata, spec }: SourceResource, component: ComponentResource): boolean {
  return component.spec.url === spec.url && component.metadata.annotations[madeForGeneration] === String(metadata.generation);
}

async function checked(where: string, read: () => Promise<ComponentCode>): Promise<OwnCode> {
  try {
    const code = await read();
    if (code.code === "") return { blocked: blocked("CodeInvalid", `the text in ${where} is empty: the code of a component is expected`) };
    checkComponentCode(code);
    return { code };
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    if (error instanceof LimitExceeded) return { blocked: blocked("CodeInvalid", `in ${where}: ${error.message}`) };
    return { blocked: blocked(error.status === 404 ? "ConfigMapNotFound" : "CodeNotRead", error.message) };
  }
}

/** What lies elsewhere changes without a change of the source, also the text that a person has to mend there. */
function blocked(reason: "ConfigMapNotFound" | "CodeNotRead" | "CodeInvalid", message: string): Blocked {
  return { reason, message, passing: reason !== "CodeInvalid", lookAgain: true };
}
