import { group, nameMessage, namePattern, version, type Column, type ImmutableField, type Kind } from "../../crds/resource.ts";
import { validationOf, validations } from "../../crds/rules.ts";
import { structuralSchema, type Structural } from "./structural.ts";

/** The CustomResourceDefinition of a kind. */
export function definitionOf(kind: Kind): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${kind.plural}.${group}`,
      // Removing the chart must not delete the users' resources.
      annotations: { "helm.sh/resource-policy": "keep" },
    },
    spec: {
      group,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        shortNames: kind.shortNames,
        categories: ["headwater"],
      },
      scope: kind.scope ?? "Namespaced",
      versions: [versionOf(kind)],
    },
  };
}

function versionOf(kind: Kind): object {
  const { scale, selectable = [] } = kind;
  return {
    name: version,
    served: true,
    storage: true,
    subresources: {
      status: {},
      ...(scale === undefined
        ? {}
        : { scale: { specReplicasPath: scale.replicas, statusReplicasPath: scale.statusReplicas, labelSelectorPath: scale.selector } }),
    },
    additionalPrinterColumns: kind.columns.map(printerColumn),
    ...(selectable.length === 0 ? {} : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
    schema: { openAPIV3Schema: rootSchema(kind) },
  };
}

function printerColumn({ name, type, path, description, wide = false }: Column): object {
  return { name, type, jsonPath: path, description, ...(wide ? { priority: 1 } : {}) };
}

const nameRule = { cel: `self.metadata.name.matches(r'${namePattern.source}')`, message: nameMessage };

/** The schema of a whole resource. */
export function rootSchema(kind: Kind): Structural {
  const rules = [nameRule, ...(kind.rules ?? [])].map(validationOf);
  return {
    description: kind.description,
    type: "object",
    ...(defaultSpec(kind) === undefined ? { required: ["spec"] } : {}),
    [validations]: rules,
    properties: {
      apiVersion: { type: "string", description: `Always ${group}/${version}.` },
      kind: { type: "string", description: `Always ${kind.kind}.` },
      metadata: { type: "object" },
      spec: specSchema(kind),
      status: statusSchema(kind),
    },
  };
}

/** By default the status describes no generation, so that kstatus calls a new resource in progress until the operator has seen it. */
function statusSchema(kind: Kind): Structural {
  const description = "What Headwater found and did; written by Headwater alone.";
  return { description, ...structuralSchema(kind.status), default: { observedGeneration: -1 } };
}

/** The default of an absent spec without required fields. Written in full, because the API server checks the rules against it. */
function defaultSpec(kind: Kind): unknown {
  return kind.spec.safeParse({}).data;
}

function specSchema(kind: Kind): Structural {
  const schema = structuralSchema(kind.spec);
  const stated = Array.isArray(schema[validations]) ? schema[validations] : [];
  const rules = [...stated, ...(kind.immutable ?? []).map(immutability)];
  const absent = defaultSpec(kind);
  return {
    description: "Desired state.",
    ...schema,
    ...(absent === undefined ? {} : { default: absent }),
    ...(rules.length === 0 ? {} : { [validations]: rules }),
  };
}

/** Wraps a rule so that it also holds when the optional field is absent. */
function immutability({ field, message }: ImmutableField): object {
  const cel = `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`;
  return validationOf({ cel, message, field });
}
