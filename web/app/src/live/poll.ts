// Questions that are asked again while a panel is shown, and when its window has the focus; a hidden tab asks nothing.

/** Asks at once and then a while after each answer; returns how to end it. */
export function poll(ask: () => Promise<unknown>, period_ms: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [busy, ended] = [false, false];
  const round = async () => {
    if (busy) return;
    clearTimeout(timer);
    busy = true;
    if (!document.hidden) await ask();
    busy = false;
    if (!ended) timer = setTimeout(() => void round(), period_ms);
  };
  const turned = () => void (!document.hidden && round());
  document.addEventListener('visibilitychange', turned);
  addEventListener('focus', turned);
  void round();
  return () => {
    ended = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', turned);
    removeEventListener('focus', turned);
  };
}
