// Questions that are asked again while a panel is shown; a hidden tab asks nothing.

/** Asks at once and then a while after each answer; returns how to end it. */
export function poll(ask: () => Promise<unknown>, period_ms: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  const round = async () => {
    clearTimeout(timer);
    if (!document.hidden) await ask();
    if (!ended) timer = setTimeout(() => void round(), period_ms);
  };
  const turned = () => void (!document.hidden && round());
  document.addEventListener('visibilitychange', turned);
  void round();
  return () => {
    ended = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', turned);
  };
}
