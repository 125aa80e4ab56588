/**
 * Sends what is said in one turn of the event loop as few lists: an IPC message costs the same for one or twenty. The first
 * message of a turn goes at once, since mostly it is the only one; the rest goes together when the turn ends.
 */
export function batched<Message>(send: (messages: readonly Message[]) => void): (message: Message) => void {
  let queued: Message[] = [];
  let isOpen = true;
  const endTurn = (): void => {
    isOpen = true;
    if (queued.length === 0) return;
    const messages = queued;
    queued = [];
    send(messages);
  };
  return (message) => {
    if (!isOpen) {
      queued.push(message);
      return;
    }
    isOpen = false;
    setImmediate(endTurn);
    send([message]);
  };
}
