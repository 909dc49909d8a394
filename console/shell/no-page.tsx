import { Link } from '@tanstack/react-router';

export function NoPage() {
  return (
    <section className="panel">
      <h1>There is no such page</h1>
      <p>
        The address may be cut off. Go to <Link to="/live">Live</Link>, or look the id up with the field
        above.
      </p>
    </section>
  );
}
