import { sourceKind } from "../../crds/source.ts";
import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { kindOfId } from "../../domain/ids.ts";
import { namesAround } from "../../domain/workflow/step-tree.ts";
import type { User } from "../http/ports.ts";
import { readFields, readText } from "../resources/stored-fields.ts";
import type { Access } from "../resources/access.ts";

interface Named {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly name?: string | undefined };
  readonly status?: object | undefined;
}

export interface VisibleNames {
  readonly name: string;
  /** Of a source that has one. */
  readonly slug: string | undefined;
}

/** Sources, workflows and webhooks of a trace that the caller may see: names, and steps within steps. Each is looked up once. */
export class VisibleObjects {
  readonly #access: Access;
  readonly #user: User;
  readonly #names = new Map<string, Promise<VisibleNames | undefined>>();
  readonly #stepsAround = new Map<string, Promise<ReadonlyMap<string, string>>>();

  constructor(access: Access, user: User) {
    this.#access = access;
    this.#user = user;
  }

  /** Undefined: it belongs to another owner, or was deleted. */
  async nameOf(id: string): Promise<string | undefined> {
    return (await this.namesOf(id))?.name;
  }

  /** As `nameOf`. */
  namesOf(id: string): Promise<VisibleNames | undefined> {
    const known = this.#names.get(id) ?? this.#find(id).then((found) => found && namesIn(found));
    this.#names.set(id, known);
    return known;
  }

  /** Of a workflow as it is now: the name of the step around each step. Empty for one that the caller may not see. */
  stepsAround(workflow: string): Promise<ReadonlyMap<string, string>> {
    const known =
      this.#stepsAround.get(workflow) ??
      this.#access
        .findListed(workflowKind, "workflow", workflow, this.#user)
        .then((found) => (found === undefined ? new Map<string, string>() : namesAround(found.spec.steps)));
    this.#stepsAround.set(workflow, known);
    return known;
  }

  /** The object is looked up again the next time. */
  forget(id: string): void {
    this.#names.delete(id);
    this.#stepsAround.delete(id);
  }

  /** Owners whose records the caller may see. */
  owners(): Promise<readonly string[]> {
    return this.#access.ownersOf(this.#user);
  }

  async #find(id: string): Promise<Named | undefined> {
    switch (kindOfId(id)) {
      case "source":
        return this.#access.findListed(sourceKind, "source", id, this.#user);
      case "workflow":
        return this.#access.findListed(workflowKind, "workflow", id, this.#user);
      case "webhook":
        return this.#access.findListed(webhookKind, "webhook", id, this.#user);
      default:
        return undefined;
    }
  }
}

const namesIn = ({ metadata, spec, status }: Named): VisibleNames => ({
  name: readText(spec.name) ?? metadata.name,
  slug: readText(readFields(status)["nameSlug"]),
});
