const RADIUS = 5.5
const LENGTH = 2 * Math.PI * RADIUS
const CROWDED = 0.8

/** A ring that fills as the model's window does. */
export const ContextRing = ({ share }: { readonly share: number }) => (
  <svg class={share >= CROWDED ? 'ring is-crowded' : 'ring'} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
    <circle class="ring-track" cx="8" cy="8" r={RADIUS} />
    <circle class="ring-fill" cx="8" cy="8" r={RADIUS} stroke-dasharray={`${Math.min(1, Math.max(0, share)) * LENGTH} ${LENGTH}`} transform="rotate(-90 8 8)" />
  </svg>
)
