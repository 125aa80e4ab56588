/**
 * Sends the messages of one turn of the event loop in at most two lists: one write costs as much as twenty messages. The first list is sent by
 * `nextTick`, with what a commit has started side by side; what follows is sent by `setImmediate`, when the turn ends.
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
