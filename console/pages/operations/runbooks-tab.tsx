import { Fragment, type ReactNode } from "react";
import { runbooks, type Runbook } from "../../generated/runbooks.ts";
import { TextLink } from "../../parts/button.tsx";
import { EmptyState } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { useSearchParams } from "../../parts/search.ts";
import { text } from "./strings.ts";

/** One runbook by the address, and the list of all. */
export function RunbooksTab() {
  const [{ runbook: chosen }] = useSearchParams();
  const found = runbooks.find(({ name }) => name === chosen);
  return (
    <>
      {found !== undefined && (
        <Section title={found.name}>
          <Blocks blocks={found.blocks} />
        </Section>
      )}
      {chosen !== undefined && found === undefined && <EmptyState title={text.noRunbook(chosen)} />}
      <Section title={text.tabs.runbooks}>
        <p className="text-sm text-muted">{text.runbooksHint}</p>
        <ul className="columns-[16rem] text-sm">
          {runbooks.map(({ name }) => (
            <li key={name} className="py-0.5 wrap-anywhere">
              <TextLink to="/operations" search={{ tab: "runbooks", runbook: name } as never}>
                {name}
              </TextLink>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

/** Items that follow each other are one list. */
function Blocks({ blocks }: Pick<Runbook, "blocks">) {
  const groups = blocks.reduce<Runbook["blocks"][number][][]>((all, block) => {
    const last = all.at(-1);
    if (block[0] === "item" && last?.[0]?.[0] === "item") last.push(block);
    else all.push([block]);
    return all;
  }, []);
  return (
    <div className="flex min-w-0 max-w-prose flex-col gap-2 text-sm wrap-anywhere">
      {groups.map((group, index) => (
        <Fragment key={index}>{shown(group)}</Fragment>
      ))}
    </div>
  );
}

function shown(group: Runbook["blocks"]): ReactNode {
  const [[kind, content] = ["paragraph", ""] as const] = group;
  switch (kind) {
    case "title":
      return <h3 className="font-medium">{content}</h3>;
    case "item":
      return (
        <ul className="list-disc pl-5">
          {group.map(([, item]) => (
            <li key={item}>{withCode(item)}</li>
          ))}
        </ul>
      );
    case "paragraph":
      return <p>{withCode(content)}</p>;
  }
}

/** Text between backticks is code. */
const withCode = (content: string): ReactNode =>
  content.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <code key={index} className="rounded bg-page px-1 font-mono text-xs">
        {part}
      </code>
    ),
  );
