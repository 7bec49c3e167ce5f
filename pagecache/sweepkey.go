package pagecache

// SweepKey removes from a tier the page of a primary key, and the variants of
// it that the tier's list leads to, as far as the purges do not leave them:
// check says so. What else is there stays. key is not kept.
func SweepKey(t Tier, key []byte, check func(*Page) Verdict) {
	primary := appendPrimary(nil, key)
	p, ok := t.Get(primary)
	if !ok {
		return
	}
	if v := p.variants(); v != nil {
		for _, own := range v.held {
			sweepOne(t, v.heldKey(own, key), check)
		}
	}
	if check(p) == Gone {
		_ = t.Delete(primary) // what is left there expires
	}
}

func sweepOne(t Tier, key []byte, check func(*Page) Verdict) {
	if p, ok := t.Get(key); ok && check(p) == Gone {
		_ = t.Delete(key)
	}
}
