/**
 * Sends the messages of one turn of the event loop in few lists: one IPC message costs as much as a list of twenty. The first message of
 * a turn is sent at once, because usually it is the only one. The others are sent together when the turn ends.
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
