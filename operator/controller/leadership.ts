/** Who of several operators reconciles. */
export interface Leadership {
  /** True while nobody else can lead: writes are allowed. It turns false before `lead`'s signal aborts because of a loss. */
  readonly leads: boolean;
  /**
   * Calls `lead` each time this process becomes the leader, with a signal that aborts when it is none any more or is to stop.
   * `lead` resolves when all it started has ended; only then may another lead.
   */
  campaign(lead: (signal: AbortSignal) => Promise<void>): { stop(): Promise<void> };
}

/** For a single operator, which nothing competes with. */
export function leadsAlone(): Leadership {
  return {
    leads: true,
    campaign: (lead) => {
      const stop = new AbortController();
      const led = lead(stop.signal);
      return {
        stop: () => {
          stop.abort();
          return led;
        },
      };
    },
  };
}
