import { holderOf } from "../../crds/secret-values.ts";
import { componentKind } from "../../crds/component.ts";
import { withAdditional, type PropDefinition } from "../../domain/component/definition.ts";
import { runtimeProps } from "../../domain/component/prop-values.ts";
import { NotFound } from "../../domain/errors.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { boundProps } from "../../domain/component/configure.ts";
import { sealValues } from "../configured/seal-values.ts";
import type { OperatorPorts } from "../ports.ts";
import { buildOf } from "./build-of.ts";

/** A source that is tested before it is deployed. The API has authorized and checked it. */
export interface SourceDraftRequest {
  readonly namespace: string;
  /** Name of the Component. */
  readonly tested: string;
  /** Values by prop name, including secret ones. */
  readonly props: Readonly<Record<string, unknown>>;
  /** All props for these values, if the component adds some. */
  readonly configurableProps?: readonly PropDefinition[] | undefined;
}

type Ports = Pick<OperatorPorts, "store" | "owners" | "secretValues" | "secrets" | "pools">;

/** The source as it would be deployed, without hooks and an endpoint: nothing calls it but the test. @throws NotFound, InvalidInput, Unavailable */
export async function sealSourceDraft(
  { namespace, tested, props, configurableProps }: SourceDraftRequest,
  ports: Ports,
): Promise<Deployment> {
  const [component, owner] = [await ports.store.get(componentKind, namespace, tested), await ports.owners.ownerOf(namespace)];
  if (owner === undefined) throw new NotFound();
  const build = buildOf(component);
  const definition = withAdditional(build.definition, configurableProps);
  const pool = ports.pools.poolOf(owner);
  const { plain, secrets } = await sealValues({ props, definition, holder: holderOf(componentKind, component), pool }, ports);
  const additional = boundProps(build.definition, definition.props);
  const id = component.status.id ?? tested;
  return {
    source: id,
    owner,
    pool,
    name: definition.name,
    id,
    generation: 0,
    active: true,
    bundle: build.bundle,
    needsNode: build.needsNode,
    props: runtimeProps(definition, plain),
    secrets,
    ...(additional.length === 0 ? {} : { additionalProps: additional }),
    dedupe: definition.dedupe ?? null,
    hooks: [],
    endpoint: null,
  };
}
