import type { SourceResource } from "../../../crds/source.ts";
import type { ComponentResource } from "../../../crds/component.ts";
import { checkComponentCode, type ComponentCode } from "../../../domain/component/component-code.ts";
import { HeadwaterError, LimitExceeded } from "../../../domain/errors.ts";
import type { OperatorPorts } from "../../ports.ts";
import { madeForGeneration } from "./component-of.ts";
import type { Blocked } from "../plan/blocked.ts";

/** The code for a source's own component, or why there is none. */
export type OwnCode = { readonly code: ComponentCode } | { readonly blocked: Blocked };

/** Reads the code of a source that does not refer to a component. A URL is read once per generation. */
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

/** Omits absent fields, as a spec does. */
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
    if (code.code === "") return { blocked: blocked("CodeInvalid", `${where} is empty: expected the code of a component`) };
    checkComponentCode(code);
    return { code };
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    if (error instanceof LimitExceeded) return { blocked: blocked("CodeInvalid", `in ${where}: ${error.message}`) };
    return { blocked: blocked(error.status === 404 ? "ConfigMapNotFound" : "CodeNotRead", error.message) };
  }
}

/** The code is stored outside of the source and can change without it, also to correct an error. */
function blocked(reason: "ConfigMapNotFound" | "CodeNotRead" | "CodeInvalid", message: string): Blocked {
  return { reason, message, transient: reason !== "CodeInvalid", poll: true };
}
