import { useList } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { ButtonLink, TextLink } from "../../parts/button.tsx";
import { Loaded } from "../../parts/notices.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { Attention } from "./attention.tsx";
import { Curves } from "./curves.tsx";
import { LastEvents } from "./last-events.tsx";
import { text } from "./strings.ts";
import { Usage } from "./usage.tsx";

const refreshMs = 15_000;
const shownSources = 8;

/** The last day as curves, what needs attention, today's use, the newest sources and their last events. Without sources: the way to the first one. */
export function HomePage() {
  const owner = useOwnerQuery();
  const sources = useList("listMySources", { query: owner }, { everyMs: refreshMs, pageItems: shownSources });
  return (
    <Page title={text.title}>
      <Loaded isLoading={sources.isLoading} error={sources.items.length === 0 ? sources.error : null} retry={sources.reload}>
        {sources.total === 0 ? (
          <>
            <Attention hidesEmpty />
            <FirstRun />
          </>
        ) : (
          <>
            <Curves />
            <Attention />
            <div className="grid grid-cols-1 gap-4 xl:grid-cols-2">
              <Section title={text.sources} actions={<ButtonLink to="/sources">{text.allSources}</ButtonLink>}>
                <ul className="flex flex-col gap-1">
                  {sources.items.slice(0, shownSources).map(({ id, name, state, last_run_at: at }) => (
                    <li key={id} className="flex min-w-0 flex-wrap items-center gap-x-3 text-sm">
                      <TextLink to="/sources/$id" params={{ id } as never} className="min-w-0 flex-1 truncate">
                        <bdi>{name}</bdi>
                      </TextLink>
                      <State state={state} />
                      <span className="text-muted">{at !== null && <Time ms={at * 1_000} />}</span>
                    </li>
                  ))}
                </ul>
              </Section>
              <LastEvents sources={sources.items} />
            </div>
            <Usage />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The first steps on an empty installation. */
function FirstRun() {
  return (
    <Section title={text.firstTitle}>
      <ol className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,14rem),1fr))] gap-4">
        {text.firstSteps.map(([title, description], index) => (
          <li key={title} className="min-w-0 text-sm">
            <p className="font-medium">
              {index + 1}. {title}
            </p>
            <p className="text-muted">{description}</p>
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap gap-2">
        <ButtonLink kind="primary" to="/sources/new">
          {text.pickTemplate}
        </ButtonLink>
        <ButtonLink to="/sources/new" search={{ tab: "code" } as never}>
          {text.writeCode}
        </ButtonLink>
        <ButtonLink to="/webhooks">{text.addWebhook}</ButtonLink>
      </div>
    </Section>
  );
}
