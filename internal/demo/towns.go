package demo

import "strings"

// town is what the app knows of a town; the rest stands in the published page.
type town struct{ Slug, Name, Text string }

// towns are in the order of the published list.
func towns() []town {
	return []town{
		{"salter-point", "Salter Point", "Lighthouse, salt pans and fish soup. Market on Saturday."},
		{"kestrel-bay", "Kestrel Bay", "White cliffs, a beach at low water, kestrels and other birds."},
		{"old-quay", "Old Quay", "Painted houses, ferries, a bakery. Market on Wednesday and Sunday."},
	}
}

func findTown(slug string) (town, bool) {
	for _, t := range towns() {
		if t.Slug == slug {
			return t, true
		}
	}
	return town{}, false
}

// search gives the towns whose name or text holds q, in any case.
func search(q string) []town {
	var found []town
	q = strings.ToLower(q)
	for _, t := range towns() {
		if strings.Contains(strings.ToLower(t.Name+" "+t.Text), q) {
			found = append(found, t)
		}
	}
	return found
}

// tripOf gives the towns of a session's trip, in its order.
func tripOf(s session) []town {
	var trip []town
	for _, slug := range s.Trip {
		if t, ok := findTown(slug); ok {
			trip = append(trip, t)
		}
	}
	return trip
}
