/**
 * Sends the messages of one turn of the event loop in at most two lists: one IPC message costs as much as a list of twenty. Those that are
 * ready when the first one is, as those of a commit that starts steps side by side, go at once. The others are sent when the turn ends.
 */
export function batched<Message>(send: (messages: readonly Message[]) => void): (message: Message) => void {
  let queued: Message[] = [];
  let isOpen = true;
  const flush = (): void => {
    if (queued.length === 0) return;
    const messages = queued;
    queued = [];
    send(messages);
  };
  const endTurn = (): void => {
    isOpen = true;
    flush();
  };
  return (message) => {
    queued.push(message);
    if (!isOpen) return;
    isOpen = false;
    process.nextTick(flush);
    setImmediate(endTurn);
  };
}
