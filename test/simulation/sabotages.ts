import type { Servers } from "./servers.ts";

interface Sabotage {
  readonly sabotage: (servers: Servers) => void;
  /** What the violations say. */
  readonly finds: RegExp;
}

/** Mistakes of a system that keeps its promises in quiet times. */
export const sabotages: Readonly<Record<string, Sabotage>> = {
  "commits that are not compared with the last one": {
    sabotage: ({ runs }) => {
      const { append } = runs;
      runs.append = (owner, history, text) => append.call(runs, owner, history, text, runs.last(owner, history).sequence);
    },
    finds: /is committed after run|has run \d+ times/,
  },
  "a floor above commits that are not done": {
    sabotage: ({ runs }) => {
      const { raise } = runs;
      runs.raise = (kind, floors) => raise.call(runs, kind, new Map([...floors].map(([partition, floor]) => [partition, floor + 20])));
    },
    finds: /has not received|is recorded 0 times/,
  },
  "invocations that are acked before they have run": {
    sabotage: ({ invocations }) => {
      const { read } = invocations;
      invocations.read = (partition, feed) => {
        const { push } = feed;
        feed.push = (message) => {
          invocations.ack(message.seq);
          push.call(feed, message);
        };
        read.call(invocations, partition, feed);
      };
    },
    finds: /was accepted and has not run|has run 0 times/,
  },
  "rows that are written without the position before them": {
    sabotage: ({ history }) => {
      const { recordCommits } = history;
      history.recordCommits = (commits) => {
        history.commits.push(...commits);
        recordCommits.call(history, [], new Map());
        return [];
      };
    },
    finds: /is recorded [2-9] times/,
  },
  "a wake-up of a suspended run that is lost": {
    sabotage: ({ invocations }) => {
      invocations.wake = () => undefined;
    },
    finds: /is suspended/,
  },
  "deliveries that are stored under the id of an earlier message": {
    sabotage: ({ deliveries }) => {
      const { schedule } = deliveries;
      deliveries.schedule = (webhook, delivery, text, atMs) => schedule.call(deliveries, webhook, delivery, text, atMs, delivery);
    },
    finds: /has not received/,
  },
};
