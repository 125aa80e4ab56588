/** Decides which of several operators reconciles. */
export interface Leadership {
  /** True while no other process can lead: writes are allowed. Turns false before `lead`'s signal aborts because of a loss. */
  readonly leads: boolean;
  /**
   * Calls `lead` each time this process becomes the leader, with a signal that aborts when it loses leadership or stops. `lead` resolves
   * when everything it started has ended; only then may another process lead.
   */
  campaign(lead: (signal: AbortSignal) => Promise<void>): { stop(): Promise<void> };
}

/** For an operator without replicas. */
export function alwaysLeads(): Leadership {
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
