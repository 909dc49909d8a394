import { Way } from './way.tsx';

export function NoScreen() {
  return (
    <section className="panel">
      <h1>There is no such page</h1>
      <p>
        The address may be cut off. Go to <Way to="/now">Now</Way>, or look the id up with the field above.
      </p>
    </section>
  );
}
