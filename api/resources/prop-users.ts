import { sourceKind } from "../../crds/source.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { Conflict } from "../../domain/errors.ts";
import type { ErrorCode } from "../../domain/error-codes.ts";
import type { ApiPorts } from "../ports.ts";
import { asItRuns, type SourceResource } from "./source.ts";
import { findUsers, idsOf, namedUsers } from "./users-of.ts";

export interface PropUsers {
  readonly sources: readonly SourceResource[];
  readonly workflows: readonly WorkflowResource[];
}

type Props = Readonly<Record<string, unknown>>;

interface Referenced {
  readonly namespace: string;
  /** Its id, and other texts by which props refer to it. */
  readonly references: readonly string[];
  /** Whether props with the reference somewhere in them refer to it. */
  readonly refersTo: (props: Props, reference: string) => boolean;
}

/** Sources and workflows of a namespace whose spec or running version refers to something in props, up to `max` of each. */
export async function findPropUsers(
  { namespace, references, refersTo }: Referenced,
  ports: Pick<ApiPorts, "pages">,
  max?: number,
): Promise<PropUsers> {
  const found = await Promise.all(
    [...new Set(references)].map(async (reference) => {
      const used = { namespace, mentions: reference };
      const uses = (props: Props): boolean => refersTo(props, reference);
      const [sources, workflows] = await Promise.all([
        findUsers(sourceKind, { ...used, uses: (source) => [source, asItRuns(source)].some(({ spec }) => uses(spec.props)) }, ports, max),
        findUsers(workflowKind, { ...used, uses: ({ spec }) => stepsOf(spec).some(({ node }) => uses(node.props)) }, ports, max),
      ]);
      return { sources, workflows };
    }),
  );
  return {
    sources: distinct(found.flatMap(({ sources }) => sources)).slice(0, max),
    workflows: distinct(found.flatMap(({ workflows }) => workflows)).slice(0, max),
  };
}

/** @param noun such as `account` @throws Conflict if there are users */
export function refuseInUse({ sources, workflows }: PropUsers, noun: string, id: string, code: ErrorCode): void {
  const users = [...sources, ...workflows];
  if (users.length === 0) return;
  throw new Conflict(
    `${noun} ${id} is used by ${namedUsers(users)}: choose another ${noun} there, delete them, or delete the ${noun} anyway with force=true`,
    { code, details: { sources: idsOf(sources), workflows: idsOf(workflows) } },
  );
}

function distinct<User extends SourceResource | WorkflowResource>(users: readonly User[]): readonly User[] {
  return [...new Map(users.map((user) => [user.metadata.name, user])).values()];
}
